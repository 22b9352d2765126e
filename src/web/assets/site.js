/* site.js -- what every page gains by scripts: figures and ranks that move while one looks. Nothing depends on it. */
