import { defineConfig, mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import base, { testFiles } from '../../vitest.config.ts'
import { testsVariable } from './areas.ts'

const tests = process.env[testsVariable]

/** Tests that take long to load, and judge where an area names them. */
const wholeServers = ['packages/apiserver/src/watch-cache/{cost,restart,shared-store,unread-watch,watch}.test.ts']

const { projects: _projects, ...shared } = base.test ?? {}

/** Tests next to the code come first: a mutant is over with the first test that fails, and they are the quickest. */
class UnitTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (moduleId.includes('/src/') ? 0 : 1)
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/**
 * The project's tests, as mutants are judged by them. Those that start programs are left out, as a mutant is active in one
 * process only, and so are those that take long to find what others find too.
 */
export default mergeConfig(
  { ...base, test: { ...shared, include: tests?.split(' ') ?? testFiles } },
  defineConfig({
    plugins: [{ name: 'stryker-test-names', configureVitest: ({ project }) => acceptSpacedNames(project.config) }],
    test: {
      root: new URL('../..', import.meta.url).pathname,
      exclude: [
        '**/node_modules/**',
        'conformance/**',
        'scripts/**',
        ...(tests === undefined ? wholeServers : []),
        'packages/store/test/{crash,directory-lock,journal-power-loss,lmdb-store-processes,power-loss,storage-damage}.test.ts',
        // It sets the umask, which threads cannot.
        'packages/store/test/umask.test.ts',
      ],
      testTimeout: 20_000,
      sequence: { sequencer: UnitTestsFirst },
    },
  }),
)

/**
 * Stryker chooses tests by their names, joined by spaces to those of their suites; Vitest 5 joins them by ` > `. Without this
 * no chosen test would run, and every mutant would seem to survive.
 */
function acceptSpacedNames(config: { testNamePattern?: RegExp | undefined }): void {
  let pattern = config.testNamePattern
  Object.defineProperty(config, 'testNamePattern', {
    configurable: true,
    enumerable: true,
    get: () => pattern,
    set: (chosen: RegExp | undefined) => {
      pattern = chosen && new RegExp(chosen.source.replaceAll(' ', '(?: > | )'), chosen.flags)
    },
  })
}
