"""The paper's experiments: data sets, comparators, protocols, tables and figures."""
