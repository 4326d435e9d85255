import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { normalizeArguments } from './arguments.ts'

const program = new Command('x').option('-n, --namespace <name>')
program
  .command('get')
  .option('-o, --output <format>')
  .option('-A, --all-namespaces')
  .option('--no-headers')
  .option('--dry-run [mode]')
  .options.at(-1)
  ?.preset('client')
program.command('logs').option('-o')
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
  ])('%s', (given, expected) => {
    expect(normalizeArguments(given.split(' '), program).join(' ')).toBe(expected)
  })

  it('refuses a switch that is neither on nor off', () => {
    expect(() => normalizeArguments(['get', '-A=maybe'], program)).toThrow('"maybe" is neither true nor false')
  })
})
