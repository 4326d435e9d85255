import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/**
 * The project's tests, as mutants are judged by them. Those that start programs are left out, as a mutant is active in one
 * process only, and so are those that take long to find what others find too.
 */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      root: new URL('../..', import.meta.url).pathname,
      exclude: [
        '**/node_modules/**',
        'conformance/**',
        'scripts/**',
        'packages/store/test/{crash,power-loss,storage-damage}.test.ts',
        // These set the umask, which threads cannot.
        'packages/store/src/directories.test.ts',
        'packages/store/test/directory-lock.test.ts',
      ],
      testTimeout: 20_000,
    },
  }),
)
