import { describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { recordingHost, runCommand } from './testing/recording-host.ts'

const commandsFor = async (args: readonly string[]) => (await createProgram(recordingHost(), args)).commands
const all = await commandsFor([])

describe('createProgram', () => {
  it('has every command that is named first, as among all of them', async () => {
    for (const command of all) {
      for (const word of [command.name(), ...command.aliases()]) {
        const found = (await commandsFor([word])).find((each) => each.name() === command.name())
        expect(found?.helpInformation()).toBe(command.helpInformation())
      }
    }
  })

  it('makes no commands that come after the one that is to run', async () => {
    expect((await commandsFor(['up', '--nodes', '3'])).length).toBeLessThan(all.length / 4)
  })

  it.each([[['--help']], [['up', '--help']], [['help', 'up']], [['-n', 'team-a', 'get', 'pods']], [['gte', 'pods']]])(
    'makes all of them where help or a suggestion may be wanted, or a flag comes first: %j',
    async (args) => {
      expect(await commandsFor(args)).toHaveLength(all.length)
    },
  )
})

it('takes `alpha kuberc`, as kubectl 1.35 calls it, for `kuberc`', async () => {
  const words = ['kuberc', 'set', '--section', 'defaults']
  const told = await runCommand(['alpha', ...words])
  expect(told).toEqual(await runCommand(words))
  expect(told.stderr).toContain('--command')
})
