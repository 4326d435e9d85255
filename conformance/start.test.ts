import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Program } from './support/program.ts'

/** Has the program end loudly when it makes what Intl offers. */
const withoutIntl = `data:text/javascript,${encodeURIComponent(
  "Intl.DateTimeFormat = class { constructor() { throw new Error('Intl at the start') } }",
)}`

it('starts, and says what happens, without the tables of languages and time zones: 14 ms and 8 MB', async () => {
  await using program = await Program.start({
    alone: true,
    args: ['--memory'],
    env: { NODE_OPTIONS: `--import=${withoutIntl}` },
  })
  expect(await program.end('SIGINT')).toBe(0)
  expect(program.output.at(-1)).toMatch(/^\d\d:\d\d:\d\d {2}cluster +stopped after/)
})

it('keeps the code of its start for the next one, which takes it as it is', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'kept-code-'))
  onTestFinished(() => rmSync(cache, { recursive: true }))
  const startOnce = async () => {
    await using program = await Program.start({ alone: true, args: ['--memory'], env: { NODE_COMPILE_CACHE: cache } })
    expect(await program.end('SIGINT')).toBe(0)
    const kept = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /[/]up-\w+[.]code$/.test(name),
    )
    return kept.map((name) => ({ name, inode: statSync(join(cache, name)).ino }))
  }
  const kept = await startOnce()
  expect(kept).toHaveLength(1)
  expect(await startOnce()).toEqual(kept)
})
