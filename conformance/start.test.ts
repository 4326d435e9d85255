import { expect, it } from 'vitest'
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
