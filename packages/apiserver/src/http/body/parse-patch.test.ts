import { expect, it } from 'vitest'
import { parsePatch } from './parse-patch.ts'

it('brackets and commas of a text in YAML are no values', async () => {
  const lines = Array.from({ length: 2_000 }, () => `    [${'a,'.repeat(60)}`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\ndata:\n  table.csv: |\n${lines.join('\n')}\n`
  const { change } = await parsePatch(Buffer.from(yaml), { type: 'apply', expected: {}, fieldValidation: 'Strict' })
  expect(change.body).toMatchObject({ data: { 'table.csv': expect.stringMatching(/^\[a,a,/) } })
})
