import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Tests of the program that take longest, the longest first. Those that mostly wait, for containers, disks and time to pass, stand between the
 * others: while one of three workers waits, two have work for two cores. Of what is not here it is the size of the file that counts.
 */
export const longest = [
  'conformance/documentation.test.ts',
  'conformance/command-twins.test.ts',
  'conformance/podman.test.ts', // waits
  'conformance/write-twins.test.ts',
  'conformance/docker.test.ts', // waits
  'conformance/generated-twins.test.ts',
  'conformance/containerd.test.ts', // waits
  'conformance/flood.test.ts',
  'conformance/release.test.ts',
  'conformance/names.test.ts', // waits
  'conformance/container-twins.test.ts',
  'conformance/get-twins.test.ts',
  'torture/torture.test.ts', // waits
  'conformance/command-line.test.ts',
  'conformance/go-template-twins.test.ts',
  'conformance/two-servers.test.ts', // waits
  'conformance/kubectl-exec.test.ts',
  'conformance/program.test.ts',
  'conformance/agent.test.ts', // waits
  'conformance/process-runtime.test.ts',
  'conformance/rolling-update.test.ts', // waits
]

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
  const rank = longest.findIndex((file) => moduleId.endsWith(`/${file}`))
  return [projects.indexOf(project.name), rank < 0 ? longest.length : rank, -statSync(moduleId).size]
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((each, index) => each - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0
}
