import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPki } from '@coracle/apiserver'
import { realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { authenticationOf } from './authentication-flags.ts'

const { ca } = createPki(realEnvironment())
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-tokens-'))
  writeFileSync(join(directory, 'tokens.csv'), 'abc,anna,17,"dev,ops"\n')
  writeFileSync(join(directory, 'ca.crt'), `# ours\n${ca.certificatePem}`)
  writeFileSync(join(directory, 'broken.crt'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  writeFileSync(join(directory, 'broken.csv'), 'abc,anna,17\ndef\n')
})
afterAll(() => rmSync(directory, { recursive: true }))

it('reads static tokens from the file that is named', async () => {
  expect(await authenticationOf({}, directory)).toEqual({})
  expect(await authenticationOf({ tokenAuthFile: 'tokens.csv' }, directory)).toEqual({
    tokens: [{ token: 'abc', user: { name: 'anna', uid: '17', groups: ['dev', 'ops'] } }],
  })
})

it('reads authorities of client certificates from the file that is named', async () => {
  expect(await authenticationOf({ clientCaFile: 'ca.crt' }, directory)).toEqual({ clientCaPem: ca.certificatePem })
})

it('says which file is wrong, and where', async () => {
  await expect(authenticationOf({ tokenAuthFile: 'broken.csv' }, directory)).rejects.toThrow(
    /^--token-auth-file: broken\.csv: line 2: must have the columns/,
  )
  await expect(authenticationOf({ clientCaFile: 'tokens.csv' }, directory)).rejects.toThrow(
    '--client-ca-file: tokens.csv: has no certificate in PEM (BEGIN CERTIFICATE)',
  )
  await expect(authenticationOf({ clientCaFile: 'broken.crt' }, directory)).rejects.toThrow(
    /^--client-ca-file: broken\.crt: /,
  )
  await expect(authenticationOf({ tokenAuthFile: 'none.csv' }, directory)).rejects.toThrow(/^--token-auth-file: ENOENT/)
})
