import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PodSpec, runtimeClasses } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RuntimeHandler } from '../runtimes/runtime.ts'
import { testPod } from '../testing/pods.ts'
import { type IsolatingNode, sandboxIsolation } from './sandbox-isolation.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-'))
  writeFileSync(join(directory, 'resolv.conf'), 'search outer.example\nnameserver 192.0.2.1\n')
})
afterEach(() => rmSync(directory, { recursive: true }))

const isolation = (
  spec: Partial<PodSpec> = {},
  servers: () => Promise<readonly string[]> = async () => ['10.96.0.10'],
  more: Partial<IsolatingNode> = {},
) =>
  sandboxIsolation(testPod(spec), {
    client: createFakeClient(virtualEnvironment()),
    runtime: {},
    memoryBytes: 1,
    dns: { servers, domain: 'example.internal', resolvConf: join(directory, 'resolv.conf') },
    ...more,
  })

describe('how a pod of a node looks names up', () => {
  it('is at the servers of the cluster, in its domain, and beyond that as the node does', async () => {
    const { dns, dnsProblems } = await isolation()
    expect(dns).toEqual({
      servers: ['10.96.0.10'],
      searches: ['default.svc.example.internal', 'svc.example.internal', 'example.internal', 'outer.example'],
      options: ['ndots:5'],
    })
    expect(dnsProblems).toEqual([])
  })

  it('is as the node does where the cluster has no servers, which is to be told', async () => {
    const { dns, dnsProblems } = await isolation({}, async () => [])
    expect(dns?.servers).toEqual(['192.0.2.1'])
    expect(dnsProblems).toEqual([
      {
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_default(uid-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ])
  })

  it('is by themselves where the node asks nobody', async () => {
    const { dns } = await isolation({ dnsPolicy: 'Default' }, undefined, {
      dns: { servers: async () => [], domain: 'example.internal', resolvConf: '/dev/null' },
    })
    expect(dns).toEqual({ servers: ['127.0.0.1'], searches: ['.'], options: [] })
  })

  it('waits for no servers of the cluster where the pod does not ask them', async () => {
    const never = () => new Promise<readonly string[]>(() => {})
    for (const spec of [{ dnsPolicy: 'Default' }, { dnsPolicy: 'None' }, { hostNetwork: true }] as const)
      expect((await isolation(spec, never)).dnsProblems).toEqual([])
  })
})

it('says what a pod may use, and what its runtime class takes', async () => {
  const { resources, overhead } = await isolation({ overhead: { cpu: '250m', memory: '1Gi' } })
  expect([resources, overhead]).toMatchObject([{ memoryLimitBytes: 0 }, { memoryLimitBytes: 2 ** 30 }])
})

describe('the name of a pod’s host', () => {
  it('is in the domain of the cluster', async () => {
    const { ownNames } = await isolation({ hostname: 'north', subdomain: 'db' })
    expect(ownNames).toEqual(['north.db.default.svc.example.internal', 'north'])
  })
})

describe('users that are none of the node’s', () => {
  const handler = (name: string, userNamespaces: boolean): RuntimeHandler => ({
    name,
    features: { recursiveReadOnlyMounts: false, userNamespaces },
  })
  /** Of a pod of the default handler, or of the class that names `kata`. */
  async function ownUsers(
    hostUsers: boolean | undefined,
    handlers: readonly RuntimeHandler[] | undefined,
    runtimeClassName?: string,
  ) {
    const client = createFakeClient(virtualEnvironment())
    const metadata = { name: 'strong' }
    await client.create(runtimeClasses, {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata,
      handler: 'kata',
    })
    const runtime = handlers === undefined ? {} : { handlers }
    const spec = {
      ...(hostUsers === undefined ? {} : { hostUsers }),
      ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    }
    return (await isolation(spec, async () => [], { client, runtime })).ownUsers
  }

  it('has a pod that asks for them', async () => {
    const handlers = [handler('', true), handler('kata', true)]
    expect(await ownUsers(false, handlers)).toBe(true)
    expect(await ownUsers(false, handlers, 'strong')).toBe(true)
    expect(await ownUsers(true, handlers)).toBe(false)
    expect(await ownUsers(undefined, undefined)).toBe(false)
  })

  const without = "can't set `spec.hostUsers: false`,"
  it.each<[string, readonly RuntimeHandler[] | undefined, string | undefined, string]>([
    ['a runtime that says nothing', undefined, undefined, `${without} runtime does not support user namespaces`],
    ['a runtime without', [handler('', false)], undefined, `${without} runtime does not support user namespaces`],
    [
      'a handler without',
      [handler('', true), handler('kata', false)],
      'strong',
      `${without} RuntimeClass handler "kata" does not support user namespaces`,
    ],
    [
      'an unknown handler',
      [handler('', true)],
      'strong',
      `${without} RuntimeClass handler "kata" does not support user namespaces: the handler "kata" is not known`,
    ],
  ])('has no pod of %s', async (_, handlers, runtimeClass, message) => {
    await expect(ownUsers(false, handlers, runtimeClass)).rejects.toThrow(new Error(message))
  })
})
