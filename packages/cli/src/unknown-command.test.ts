import { expect, it } from 'vitest'
import { runCommand } from './testing/recording-host.ts'

const told = async (...args: readonly string[]) => (await runCommand(args)).stderr

it('suggests the commands that may have been meant, as kubectl orders them', async () => {
  expect(await told('xet')).toBe(
    'error: unknown command "xet" for "coracle"\n\nDid you mean this?\n\tset\n\tget\n\texec\n',
  )
  expect(await told('rm')).toContain('\tdelete\n')
  expect(await told('list')).toContain('\n\tget\n\twait\n')
  expect(await told('co')).toMatch(/\tcordon\n[\s\S]*\tconfig\n/)
  expect(await told('delete-all')).toBe('error: unknown command "delete-all" for "coracle"\n')
})

it('suggests none among the commands of another, except to who asks for help', async () => {
  expect(await told('rollout', 'statu')).toBe(
    'error: unknown command "statu"\nSee \'coracle rollout -h\' for help and examples\n',
  )
  expect(await told('help', 'rollout', 'statu')).toContain('\n\tstatus\n')
})

it.each([
  ['set', 1, 'stderr'],
  ['rollout', 1, 'stdout'],
  ['certificate', 0, 'stdout'],
] as const)('%s alone shows what it has', async (name, code, stream) => {
  const outcome = await runCommand([name])
  expect(outcome.code).toBe(code)
  expect(outcome[stream]).toContain(`Usage: coracle ${name}`)
  expect(outcome[stream === 'stdout' ? 'stderr' : 'stdout']).toBe('')
})
