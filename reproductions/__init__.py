"""The papers: results of studies come in; tables beside the papers' own figures go out."""
