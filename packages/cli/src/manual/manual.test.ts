import { describe, expect, it } from 'vitest'
import { normalizeArguments } from '../arguments.ts'
import { createProgram } from '../program.ts'
import { recordingHost, runCommand } from '../testing/recording-host.ts'
import { commandsOf, manual } from './manual.ts'

const commands = commandsOf(await createProgram(recordingHost()))
const names = commands.map(({ name }) => name)

describe('every command', () => {
  it('has a page, and every page its command', () => {
    expect(Object.keys(manual).sort()).toEqual([...names].sort())
  })

  it.each(commands.map(({ name, command }) => [name, command] as const))('is described: %s', (_, command) => {
    expect(command.summary()).toMatch(/^[a-z].{2,60}[^.]$/)
    expect(command.description()).toMatch(/^[A-Z].+\.$/)
    for (const { description } of command.options) expect(description).toMatch(/^\S.+[^.]$/)
    for (const { description } of command.registeredArguments) expect(description).toMatch(/^\S.+/)
  })
})

describe.each(Object.entries(manual))('the page of %s', (name, { details = [], examples, exitCodes, seeAlso }) => {
  it('is written in sentences, with examples of that command', () => {
    for (const paragraph of details) expect(paragraph).toMatch(/^[A-Z].+\.$|: [a-z ]+\.$/)
    expect(examples.length).toBeGreaterThan(0)
    for (const [purpose, command] of examples) {
      expect(purpose).toMatch(/^[a-z].+[^.]$/)
      expect(command).toMatch(new RegExp(`^coracle ${name}( |$)`))
    }
  })

  it.each(examples)('has an example that the parser takes: %s', async (_, example) => {
    const host = recordingHost()
    const program = await createProgram(host)
    // These do something by themselves, and have commands below them.
    const groups = ['apply', 'create', 'cluster-info']
    for (const { name, command } of commandsOf(program)) {
      if (command.commands.length === 0 || groups.includes(name)) command.action(() => {})
    }
    await program.parseAsync(normalizeArguments(argumentsOf(example), program), { from: 'user' })
    expect(host.written).toEqual({ stdout: '', stderr: '' })
  })

  it('says where to read on', () => {
    expect(seeAlso.length).toBeGreaterThan(0)
    expect(names).toEqual(expect.arrayContaining([...seeAlso]))
    expect(seeAlso).not.toContain(name)
    if (exitCodes !== undefined) expect(Object.keys(exitCodes)).toContain('0')
  })
})

describe('help', () => {
  it('of a command has all sections of a manual page', async () => {
    const { code, stdout } = await runCommand(['rolling-update', '--help'])
    expect(code).toBe(0)
    const headings = stdout.match(/^[A-Z][A-Za-z ]+:/gm)
    expect(headings).toEqual([
      'Usage:',
      'Arguments:',
      'Options:',
      'Global Options:',
      'Examples:',
      'Exit codes:',
      'See also:',
    ])
    expect(stdout.replaceAll('\n', ' ')).toContain('the same command goes on where it was.  It creates')
  })

  it('shows defaults as they are written', async () => {
    expect((await runCommand(['down', '--help'])).stdout).toContain('how long to wait (default: 1m)')
  })

  it('is the same by any way of asking for it', async () => {
    const { stdout } = await runCommand(['rollout', 'undo', '--help'])
    expect(await runCommand(['help', 'rollout', 'undo'])).toEqual({ code: 0, stdout, stderr: '' })
    expect(await runCommand(['rollout', 'undo', '-h'])).toEqual({ code: 0, stdout, stderr: '' })
    expect((await runCommand(['help', 'rollout', 'undo', 'deployment'])).stdout).toBe(stdout)
  })

  it('of the program lists commands by what they are for', async () => {
    const { code, stdout } = await runCommand([])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^See what there is:\n {2}get /m)
    expect(stdout).toContain('coracle help COMMAND')
    expect(await runCommand(['help'])).toEqual({ code, stdout, stderr: '' })
  })
})

/** The arguments of a command line in which only single quotes quote, up to a pipe. */
function argumentsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''))
  return words.slice(1, words.includes('|') ? words.indexOf('|') : words.length)
}
