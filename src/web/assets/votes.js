/* votes.js -- what voting gains by scripts: sums and prices while one types. Nothing depends on it. */
