import { expect, it } from 'vitest'
import { prefixLines } from './prefix-lines.ts'

it('sets a prefix before each line, however the lines arrive', async () => {
  async function* chunks() {
    for (const text of ['one\ntw', 'o\n', '\nlast']) yield Buffer.from(text)
  }
  const lines: string[] = []
  for await (const line of prefixLines(chunks(), '> ')) lines.push(Buffer.from(line).toString())
  expect(lines).toEqual(['> one\n', '> two\n', '> \n', '> last'])
})
