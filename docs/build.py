"""Build the site: guides from Markdown, reference from declarations. `python docs/build.py [folder]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import reference
from markdown_it import MarkdownIt

HERE = Path(__file__).parent
GUIDES = ("index", "concepts", "custodian", "analyst")
STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6472; --paper: #fbfaf7; --card: #fff; --line: #dcdad3;
  --accent: #3f6f8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e5df; --soft: #a2a8b3; --paper: #15181d; --card: #1d2127;
  --line: #343a43; --accent: #7fb0d0; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
.page { display: grid; grid-template-columns: 210px minmax(0, 760px); gap: 48px; max-width: 1080px; margin: 0 auto;
  padding: 32px 24px 64px; }
nav { font-size: 14px; position: sticky; top: 32px; align-self: start; }
nav a { display: block; padding: 3px 0; color: var(--soft); text-decoration: none; }
nav a.here { color: var(--accent); font-weight: 600; }
nav b { display: block; margin: 0 0 8px; }
nav hr { border: 0; border-top: 1px solid var(--line); margin: 10px 0; }
a { color: var(--accent); }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 16px; } h2 { margin: 36px 0 8px; font-size: 20px; }
code, pre { font: 13.5px/1.5 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px;
  overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; } th, td { text-align: left; padding: 6px 14px 6px 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
@media (max-width: 800px) { .page { display: block; } nav { position: static; margin-bottom: 24px; } }
"""


def build(target: Path) -> list[Path]:
    """Write every page and return the files."""
    texts = {name: (HERE / f"{name}.md").read_text(encoding="utf8") for name in GUIDES}
    texts |= reference.pages()
    titles = {name: _title(text) for name, text in texts.items()}
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in texts.items():
        path = target / f"{name}.html"
        path.write_text(_page(name, text, titles), encoding="utf8")
        written.append(path)
    return written


def _page(name: str, text: str, titles: dict[str, str]) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = re.sub(r'href="([a-z-]+)\.md(#[^"]*)?"', r'href="\1.html\2"', markdown.render(text))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{titles[name]} · sfumato</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f'<div class="page"><nav><b>sfumato</b>{_links(name, titles)}</nav><main>{body}</main></div></body></html>\n'
    )


def _links(here: str, titles: dict[str, str]) -> str:
    links = []
    for name, title in titles.items():
        if name == "reference-requirements":
            links.append("<hr>")
        links.append(f'<a href="{name}.html"{" class=here" if name == here else ""}>{title}</a>')
    return "".join(links)


def _title(text: str) -> str:
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "site"
    made = build(folder)
    print(f"{len(made)} pages in {folder}")
