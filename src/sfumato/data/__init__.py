"""What goes in: files, schema, hierarchies, integer codes, evidence."""
