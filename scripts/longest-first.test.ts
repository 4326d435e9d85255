import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TestSpecification, Vitest } from 'vitest/node'
import LongestFirst, { longest } from './longest-first.ts'

const root = join(import.meta.dirname, '..')

/** A file of tests of this repository, in a project. */
const file = (project: string, path: string) =>
  ({ moduleId: join(root, path), project: { name: project } }) as unknown as TestSpecification

it('runs what is known to take long first, then the larger files, then those that share a process', async () => {
  const inOrder = [
    ...longest.slice(0, 2).map((path) => file('programs', path)),
    file('programs', 'conformance/program.test.ts'),
    file('alone', 'scripts/longest-first.test.ts'),
    file('packages', 'packages/cli/src/commands.test.ts'),
    file('packages', 'packages/environment/src/random.test.ts'),
  ]
  const sorted = await new LongestFirst({} as Vitest).sort(inOrder.toReversed())
  expect(sorted.map(({ moduleId }) => moduleId)).toEqual(inOrder.map(({ moduleId }) => moduleId))
})

it('knows files that are there', () => {
  expect(longest.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
