import { describe, expect, it } from 'vitest'
import { runCommand } from './testing/recording-host.ts'

const told = async (...args: readonly string[]) => (await runCommand(args)).stderr

it('suggests the commands that may have been meant, as kubectl orders them', async () => {
  expect(await told('xet')).toBe(
    'error: unknown command "xet" for "coracle"\n\nDid you mean this?\n\tset\n\tget\n\texec\n',
  )
  expect(await told('rm')).toContain('\tdelete\n')
  expect(await told('list')).toBe('error: unknown command "list" for "coracle"\n\nDid you mean this?\n\tget\n')
  for (const [word, meant] of Object.entries({ ls: 'get', remove: 'delete', inspect: 'describe', stats: 'top' }))
    expect(await told(word)).toContain(`\t${meant}\n`)
  expect(await told('co')).toMatch(/\tcordon\n[\s\S]*\tconfig\n/)
  expect(await told('delete-all')).toBe('error: unknown command "delete-all" for "coracle"\n')
})

it('suggests none among the commands of another', async () => {
  expect(await told('rollout', 'statu')).toBe(
    'error: unknown command "statu"\nSee \'coracle rollout -h\' for help and examples\n',
  )
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

describe('help', () => {
  it.each([
    [['help', 'rollout', 'statu'], 'coracle rollout'],
    [['help', 'rollout', 'status', 'web'], 'coracle rollout status'],
    [['help'], 'coracle'],
    [['help', 'help'], 'coracle help'],
    [['help', '--help'], 'coracle help'],
  ])('of %j tells of the command that the first words name', async (args, name) => {
    const { code, stdout } = await runCommand(args)
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Usage: ${name} \\[`))
  })

  it('shows what there is where no command is called so', async () => {
    const { code, stdout, stderr } = await runCommand(['help', 'nosuch', 'x'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^Unknown help topic \[`nosuch` `x`\]\n\nUsage: coracle \[/)
  })

  it('suggests the commands that may have been meant', async () => {
    expect(await told('help', 'rollot')).toMatch(
      /^Unknown help topic \[`rollot`\]\n\nDid you mean this\?\n\trollout\n\nUsage: /,
    )
  })

  it('is no command behind flags', async () => {
    expect(await told('-n', 'team-a', 'help', 'get')).toBe('Error: flags cannot be placed before plugin name: -n\n')
  })

  it('has no flags of its own', async () => {
    expect((await runCommand(['help', 'get', '--nosuch'])).stderr).toContain('error: unknown flag: --nosuch\n')
  })
})
