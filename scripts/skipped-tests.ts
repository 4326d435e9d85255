import type { Reporter, TestCase, TestModule } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** What a test or a group of tests needs that a machine may lack: said where it is skipped. */
    needs?: string
  }
}

/**
 * Says at the end of a run of the tests which of them were skipped, and why; fails it where a test does not say why. A run of
 * chosen tests (`-t`) says nothing: there the others are skipped on purpose.
 */
export default class SkippedTests implements Reporter {
  readonly #isChosen: boolean

  constructor(args: readonly string[] = process.argv) {
    this.#isChosen = args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg))
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    if (skipped.length === 0 || this.#isChosen) return
    for (const [reason, tests] of Map.groupBy(skipped, reasonOf)) {
      if (reason === undefined) process.exitCode = 1
      console.log(reason === undefined ? ' skipped, and does not say why:' : ` skipped, for want of ${reason}:`)
      for (const test of tests) console.log(`   ${test.module.relativeModuleId} > ${test.fullName}`)
    }
  }
}

function reasonOf(test: TestCase): string | undefined {
  return test.meta().needs
}
