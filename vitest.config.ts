import { defineConfig } from 'vitest/config'
import SkippedTests from './scripts/skipped-tests.ts'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'conformance/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'torture/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    globalSetup: 'scripts/temporary-directory.ts',
    setupFiles: process.env.CORACLE_TEST_SERVERS === '2' ? ['conformance/support/on-two-servers.ts'] : [],
    // What waits for a real process waits for an event: these end a test that hangs, and are no measure of speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Two cores: more workers than that only make the tests of real programs slower.
    maxWorkers: 2,
    // In CI the counts are read from the report, for the closing line.
    reporters: ['default', new SkippedTests(), ...(process.env.CI ? ['json'] : [])],
    outputFile: { json: 'coverage/tests.json' },
  },
})
