import { describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { recordingHost } from './testing/recording-host.ts'

const commandsFor = (args: readonly string[]) => createProgram(recordingHost(), args).commands
const all = commandsFor([])

describe('createProgram', () => {
  it('has every command that is named first, as among all of them', () => {
    for (const command of all) {
      for (const word of [command.name(), ...command.aliases()]) {
        const found = commandsFor([word]).find((each) => each.name() === command.name())
        expect(found?.helpInformation()).toBe(command.helpInformation())
      }
    }
  })

  it('makes no commands that come after the one that is to run', () => {
    expect(commandsFor(['up', '--nodes', '3']).length).toBeLessThan(all.length / 4)
  })

  it.each([[['--help']], [['up', '--help']], [['help', 'up']], [['-n', 'team-a', 'get', 'pods']], [['gte', 'pods']]])(
    'makes all of them where help or a suggestion may be wanted, or a flag comes first: %j',
    (args) => {
      expect(commandsFor(args)).toHaveLength(all.length)
    },
  )
})
