import { configMaps } from '@coracle/api'
import { VirtualClock } from '@coracle/environment'
import { describe, expect, it, vi } from 'vitest'
import { largeObjectBytesMin } from '../registry/large-objects.ts'
import { WorkTurns } from '../work-turns.ts'
import { parseObject, parsePatch } from './body.ts'

function restsOf(parse: (body: Buffer, turns: WorkTurns) => Promise<unknown>, text: string) {
  const turns = new WorkTurns(new VirtualClock())
  const take = vi.spyOn(turns, 'take')
  return parse(Buffer.from(text), turns).then(() => take.mock.calls.length)
}

const configMap = (bytes: number) => JSON.stringify({ data: { text: 'x'.repeat(bytes) } })
const json = 'application/json'

describe('between parsing a body and looking for what is there twice', () => {
  it.each([
    ['an object', (body: Buffer, turns: WorkTurns) => parseObject(body, json, configMaps, 'Warn', turns)],
    ['a patch', (body: Buffer, turns: WorkTurns) => parsePatch(body, 'merge', {}, 'Warn', turns)],
  ])('others are served where %s is large, and only there', async (_, parse) => {
    expect(await restsOf(parse, configMap(largeObjectBytesMin))).toBe(1)
    expect(await restsOf(parse, configMap(100))).toBe(0)
  })
})

it('brackets and commas of a text in YAML are no values', async () => {
  const lines = Array.from({ length: 2_000 }, () => `    [${'a,'.repeat(60)}`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\ndata:\n  table.csv: |\n${lines.join('\n')}\n`
  const { change } = await parsePatch(Buffer.from(yaml), 'apply', {}, 'Strict')
  expect(change.body).toMatchObject({ data: { 'table.csv': expect.stringMatching(/^\[a,a,/) } })
})
