import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests of the program that take longest, longest first. Of what is not here it is the size of the file that counts. */
const longest = [
  'documentation',
  'command-twins',
  'command-line',
  'go-template-twins',
  'flood',
  'torture',
  'release',
  'two-servers',
  'rolling-update',
  'write-twins',
  'program',
  'process-runtime',
].map((name) => new RegExp(`/(conformance|torture)/${name}\\.test\\.ts$`))

/** The projects of `vitest.config.ts` in the order in which they run. */
const projects = ['programs', 'alone', 'packages']

/**
 * Puts what takes long first, so that nothing long is left for the end, when there is nothing beside it to do. The order depends on the
 * files alone, not on earlier runs.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const keys = new Map(files.map((file) => [file, keyOf(file)]))
    const key = (file: TestSpecification) => keys.get(file) ?? []
    return [...files].sort((a, b) => compare(key(a), key(b)) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

function keyOf({ moduleId, project }: TestSpecification): readonly number[] {
  const rank = longest.findIndex((pattern) => pattern.test(moduleId))
  return [projects.indexOf(project.name), rank < 0 ? longest.length : rank, -statSync(moduleId).size]
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((each, index) => each - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0
}
