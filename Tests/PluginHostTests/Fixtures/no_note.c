/* A shared object that is not a plugin. */
int answer(void);
int answer(void) { return 42; }
