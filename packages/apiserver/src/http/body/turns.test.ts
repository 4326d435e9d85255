import { configMaps } from '@coracle/api'
import { VirtualClock } from '@coracle/environment'
import { describe, expect, it, vi } from 'vitest'
import { largeObjectBytesMin } from '../../registry/large-objects.ts'
import { WorkTurns } from '../../work-turns.ts'
import { parseObject } from './parse-object.ts'
import { parsePatch } from './parse-patch.ts'

function restsOf(parse: (body: Buffer, turns: WorkTurns) => Promise<unknown>, text: string) {
  const turns = new WorkTurns(new VirtualClock())
  const take = vi.spyOn(turns, 'take')
  return parse(Buffer.from(text), turns).then(() => take.mock.calls.length)
}

const configMap = (bytes: number) => JSON.stringify({ data: { text: 'x'.repeat(bytes) } })
const objectReading = { contentType: 'application/json', expected: configMaps, fieldValidation: 'Warn' } as const
const patchReading = { type: 'merge', expected: configMaps, fieldValidation: 'Warn' } as const

describe('between parsing a body and looking for what is there twice', () => {
  it.each([
    ['an object', (body: Buffer, turns: WorkTurns) => parseObject(body, { ...objectReading, turns })],
    ['a patch', (body: Buffer, turns: WorkTurns) => parsePatch(body, { ...patchReading, turns })],
  ])('others are served where %s is large, and only there', async (_, parse) => {
    expect(await restsOf(parse, configMap(largeObjectBytesMin))).toBe(1)
    expect(await restsOf(parse, configMap(100))).toBe(0)
  })
})
