import { randomInt } from 'node:crypto'
import { configDefaults, defineConfig } from 'vitest/config'
import { propertyTests } from './scripts/properties/plugin.ts'
import PropertyReporter from './scripts/properties/reporter.ts'
import { environmentOf, propertySettings } from './scripts/properties/settings.ts'
import SkippedTests from './scripts/skipped-tests.ts'

/** Packages whose tests share nothing but what they import: their files take turns in one process, which loads it once. */
const sharing = ['api', 'controllers', 'scheduler', 'why', 'environment', 'controller-runtime'].flatMap((name) => [
  `packages/${name}/src/**/*.test.ts`,
  `packages/${name}/test/**/*.test.ts`,
])

/** All files of tests. */
export const testFiles = [
  'packages/*/src/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'conformance/**/*.test.ts',
  'examples/*/test/**/*.test.ts',
  'torture/**/*.test.ts',
  'scripts/**/*.test.ts',
]

const properties = propertySettings(process.env, randomInt)

export default defineConfig({
  plugins: [propertyTests],
  test: {
    env: environmentOf(properties),
    projects: [
      { extends: true, test: { name: 'sharing', include: sharing, isolate: false } },
      { extends: true, test: { name: 'alone', include: testFiles, exclude: [...configDefaults.exclude, ...sharing] } },
    ],
    globalSetup: 'scripts/temporary-directory.ts',
    setupFiles: process.env.CORACLE_TEST_SERVERS === '2' ? ['conformance/support/on-two-servers.ts'] : [],
    // What waits for a real process waits for an event: these end a test that hangs, and are no measure of speed.
    testTimeout: 60_000 * properties.runs,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Two cores: more workers than that only make the tests of real programs slower.
    maxWorkers: 2,
    // In CI the counts are read from the report, for the closing line.
    reporters: ['default', new SkippedTests(), new PropertyReporter(properties), ...(process.env.CI ? ['json'] : [])],
    outputFile: { json: 'coverage/tests.json' },
  },
})
