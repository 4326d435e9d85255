import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { viewReport } from './enter-view.ts'

it.each<[string, readonly string[], string | undefined]>([
  ['has its view', ['ok\n'], undefined],
  ['has its view, with warnings', ['cp: no such', ' file\n', 'o', 'k\n'], undefined],
  ['has none', ['mount: denied\n'], 'failed to start container: mount: denied'],
  ['ends without a word', [], 'failed to start container: it has ended before it had its mounts'],
])('a container that %s is known to', async (_, pieces, problem) => {
  const report = new PassThrough()
  const end = viewReport(report)
  for (const piece of pieces) report.write(piece)
  if (problem !== undefined) report.end()
  expect(await end).toBe(problem)
  expect(report.destroyed).toBe(true)
})
