import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PodSpec } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testPod } from '../testing/pods.ts'
import { sandboxIsolation } from './sandbox-isolation.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-'))
  writeFileSync(join(directory, 'resolv.conf'), 'search outer.example\nnameserver 192.0.2.1\n')
})
afterEach(() => rmSync(directory, { recursive: true }))

const isolation = (
  spec: Partial<PodSpec> = {},
  servers: () => Promise<readonly string[]> = async () => ['10.96.0.10'],
) =>
  sandboxIsolation(testPod(spec), {
    client: createFakeClient(virtualEnvironment()),
    memoryBytes: 1,
    dns: { servers, domain: 'example.internal', resolvConf: join(directory, 'resolv.conf') },
  })

describe('how a pod of a node looks names up', () => {
  it('is at the servers of the cluster, in its domain, and beyond that as the node does', async () => {
    const { dns, dnsProblem } = await isolation()
    expect(dns).toEqual({
      servers: ['10.96.0.10'],
      searches: ['default.svc.example.internal', 'svc.example.internal', 'example.internal', 'outer.example'],
      options: ['ndots:5'],
    })
    expect(dnsProblem).toBeUndefined()
  })

  it('is as the node does where the cluster has no servers, which is to be told', async () => {
    const { dns, dnsProblem } = await isolation({}, async () => [])
    expect(dns?.servers).toEqual(['192.0.2.1'])
    expect(dnsProblem).toContain('Falling back to "Default" policy.')
  })

  it('waits for no servers of the cluster where the pod does not ask them', async () => {
    const never = () => new Promise<readonly string[]>(() => {})
    for (const spec of [{ dnsPolicy: 'Default' }, { dnsPolicy: 'None' }, { hostNetwork: true }] as const)
      expect((await isolation(spec, never)).dnsProblem).toBeUndefined()
  })
})

describe('the name of a pod’s host', () => {
  it('is in the domain of the cluster', async () => {
    const { fullHostname } = await isolation({ hostname: 'north', subdomain: 'db' })
    expect(fullHostname).toBe('north.db.default.svc.example.internal')
  })
})
