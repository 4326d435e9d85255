import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { interruption, sameInterruptMs } from './interruption.ts'

describe('interruption', () => {
  it('comes with the first Ctrl-C; a second ends the process at once', async () => {
    const environment = virtualEnvironment()
    const host = recordingHost({ environment })
    const interrupted = interruption(host)
    host.interrupt()
    await interrupted
    expect(host.exits).toEqual([])
    await environment.clock.advance(sameInterruptMs + 1)
    host.interrupt()
    expect(host.exits).toEqual([130])
  })

  it('takes what comes at once for the same Ctrl-C', () => {
    const host = recordingHost({ environment: virtualEnvironment() })
    void interruption(host)
    host.interrupt()
    host.interrupt()
    expect(host.exits).toEqual([])
  })
})
