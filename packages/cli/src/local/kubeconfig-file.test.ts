import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { changeKubeconfigFile } from './kubeconfig-file.ts'

describe('changeKubeconfigFile', () => {
  let directory: string
  let file: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'kubeconfig-file-'))
    file = join(directory, 'kubeconfig')
    // Another changes it just now.
    writeFileSync(`${file}.lock`, '')
  })

  afterEach(() => rmSync(directory, { recursive: true }))

  const change = (host?: ReturnType<typeof recordingHost>) =>
    changeKubeconfigFile(
      file,
      (edit) => {
        edit.currentContext = 'mine'
      },
      host,
    )

  it('waits with a host until another has changed the file', async () => {
    const environment = virtualEnvironment()
    const changed = change(recordingHost({ environment }))
    await environment.clock.advance('1s')
    rmSync(`${file}.lock`)
    await environment.clock.advance('1s')
    await changed
    expect(readFileSync(file, 'utf8')).toContain('current-context: mine')
  })

  it('gives up where another does not come to an end, or nobody waits', async () => {
    const environment = virtualEnvironment()
    const refusal = /is being changed by another program: try again, or remove .*\.lock if there is none$/
    const waiting = expect(change(recordingHost({ environment }))).rejects.toThrow(refusal)
    await environment.clock.advance('3s')
    await waiting
    await expect(change()).rejects.toThrow(refusal)
  })
})
