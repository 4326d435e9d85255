import { randomInt } from 'node:crypto'
import { configDefaults, defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.ts'
import { propertyTests } from './scripts/properties/plugin.ts'
import PropertyReporter from './scripts/properties/reporter.ts'
import { environmentOf, propertySettings } from './scripts/properties/settings.ts'
import SkippedTests from './scripts/skipped-tests.ts'

/** Tests that run the program. */
const programs = ['conformance/**/*.test.ts', 'torture/**/*.test.ts']

/** Tests of packages. Their files take turns in one process for each worker, which loads what they import once. */
export const packages = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts']

/**
 * Tests that put something in the place of modules or have them loaded anew, load much that others do not, count what all code that is loaded has done, or use
 * so many buffers that all that others have loaded would be searched for garbage again and again: each file has a process of its own.
 */
export const alone = [
  'packages/store/src/disk-room.test.ts',
  'packages/store/test/journal-power-loss.test.ts',
  'packages/store/test/power-loss.test.ts',
  'packages/store/test/crash.test.ts',
  'packages/store/test/lmdb-store.test.ts',
  'packages/environment/src/idle-memory-flags.test.ts',
  'packages/kubelet/src/runtimes/process/log-watcher-growth.test.ts',
  'packages/apiserver/src/admission/matching/load-expressions.test.ts',
  'packages/cli/src/commands/port-forward.test.ts',
  'packages/cli/src/output/outcome-printer.test.ts',
  'packages/api/src/cost.test.ts',
  'packages/api/src/patch/strategic-merge-patch.test.ts',
  'examples/*/test/**/*.test.ts',
  'scripts/**/*.test.ts',
]

/** All files of tests. */
export const testFiles = [...programs, ...packages, ...alone]

const properties = propertySettings(process.env, randomInt)

export default defineConfig({
  plugins: [propertyTests],
  test: {
    env: environmentOf(properties),
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: programs,
          globalSetup: ['scripts/bundled-program.ts'],
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
      {
        extends: true,
        test: {
          name: 'packages',
          include: packages,
          exclude: [...configDefaults.exclude, ...alone],
          isolate: false,
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
    globalSetup: ['scripts/temporary-directory.ts', 'scripts/neutral-environment.ts'],
    setupFiles: process.env.CORACLE_TEST_SERVERS === '2' ? ['conformance/support/on-two-servers.ts'] : [],
    // What waits for a real process waits for an event: these end a test that hangs, and are no measure of speed. A test may wait several times, each
    // of which has an end of its own.
    testTimeout: 240_000 * properties.runs,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // More than there are cores: many tests wait, for programs, for disks and for time to pass. All projects are one group, so that the first
    // files of one run beside the last ones of another, and no core has nothing to do.
    maxWorkers: 3,
    // In CI the counts are read from the report, for the closing line.
    reporters: ['default', new SkippedTests(), new PropertyReporter(properties), ...(process.env.CI ? ['json'] : [])],
    outputFile: { json: 'coverage/tests.json' },
  },
})
