import { describe, expect, it } from 'vitest'
import { normalizeArguments } from './arguments.ts'
import { UsageCommand } from './usage-command.ts'

const written: string[] = []
const program = new UsageCommand('x')
  .option('-n, --namespace <name>')
  .exitOverride()
  .configureOutput({ writeErr: (text) => written.push(text) })
program
  .command('get')
  .option('-o, --output <format>')
  .option('-A, --all-namespaces')
  .option('--no-headers')
  .option('--dry-run [mode]')
  .options.at(-1)
  ?.preset('client')
program.command('logs').option('-o')
program.command('roll').command('out').option('--output <format>')
// A command with an option of the same name keeps it.
program.command('bind').option('-n, --name <name>').option('-o')

describe('normalizeArguments', () => {
  it.each([
    ['get -o=yaml pods', 'get -o yaml pods'],
    ['get -oyaml', 'get -oyaml'],
    ['get --output=jsonpath={.a}', 'get --output=jsonpath={.a}'],
    ['get -A=true', 'get -A'],
    ['get --all-namespaces=false', 'get'],
    ['get --no-headers=true', 'get --no-headers'],
    ['get --no-headers=false', 'get'],
    ['get --dry-run pods', 'get --dry-run=client pods'],
    ['get --dry-run=server', 'get --dry-run=server'],
    ['-n get get -A=true', '-n get get -A'],
    ['get -n -A=true', '-n -A=true get'],
    ['get pods -n a -o=yaml', '-n a get pods -o yaml'],
    ['bind -n -o x', 'bind -n -o x'],
    ['get -- -o=yaml', 'get -- -o=yaml'],
    // Flags before the command go with it; of one that nobody knows there, the next argument is the value.
    ['-o yaml get pods', 'get -o yaml pods'],
    ['-o=yaml get pods', 'get -o yaml pods'],
    ['-A=true get pods', 'get -A pods'],
    ['-oyaml -n a get pods', '-n a get -oyaml pods'],
    ['--output yaml roll out now', 'roll out --output yaml now'],
    ['roll -n a --output yaml out now', '-n a roll out --output yaml now'],
    ['-A get', '-A get'],
    ['-- get pods', '-- get pods'],
  ])('%s', (given, expected) => {
    expect(normalizeArguments(given.split(' '), program).join(' ')).toBe(expected)
  })

  it.each([
    ['get -A=T', 'get -A'],
    ['get -A=0', 'get'],
  ])('%s, as Go reads truth', (given, expected) => {
    expect(normalizeArguments(given.split(' '), program).join(' ')).toBe(expected)
  })

  it.each([
    [
      'get -A=maybe',
      'invalid argument "maybe" for "-A, --all-namespaces" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    ['get pods -o', "flag needs an argument: 'o' in -o"],
    ['get pods --output', 'flag needs an argument: --output'],
  ])('%s is refused', (given, message) => {
    written.length = 0
    expect(() => normalizeArguments(given.split(' '), program)).toThrow()
    expect(written).toEqual([`error: ${message}\nSee 'x get --help' for usage.\n`])
  })
})
