"""A trained pipeline comes in; the same decisions as JSON, Python, JavaScript, SQL or a web page go out."""
