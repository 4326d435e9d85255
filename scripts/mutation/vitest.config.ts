import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** The project's tests, as mutants are judged by them. Those that start programs are left out: a mutant is active in one process only. */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      root: new URL('../..', import.meta.url).pathname,
      exclude: ['**/node_modules/**', 'conformance/**', 'scripts/**', 'packages/store/test/crash.test.ts'],
      testTimeout: 20_000,
    },
  }),
)
