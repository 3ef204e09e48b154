"""What VMPRF and Performance Toolkit listings have in common: pages, title blocks, columns and rows.

Both print the same way: pages with a title block, headings over fixed columns, a row a line. The formats differ in
the names of their reports and in what these mean.
"""
