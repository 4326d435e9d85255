import { invalid, type Service, type ServiceCidr, serviceCidrs, services } from '@coracle/api'
import { ConnectionLink, interceptClient } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeDnsService, retryFirstMs } from './dns-service.ts'

const key = { namespace: 'kube-system', name: 'kube-dns' }

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
})

const range = (cidr: string) =>
  client.create<ServiceCidr>(serviceCidrs, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [cidr] },
  })

const make = (signal = new AbortController().signal) => makeDnsService(client, environment, signal)
const address = async () => (await client.get(services, key)).spec.clusterIP

describe('the Service for names', () => {
  it('is as kubeadm makes it', async () => {
    await range('10.96.0.0/12')
    await make()
    const { metadata, spec } = await client.get(services, key)
    expect(metadata.labels).toEqual({
      'k8s-app': 'kube-dns',
      'kubernetes.io/cluster-service': 'true',
      'kubernetes.io/name': 'CoreDNS',
    })
    expect(spec).toMatchObject({
      clusterIP: '10.96.0.10',
      selector: { 'k8s-app': 'kube-dns' },
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    })
  })

  it.each([
    ['10.0.0.0/28', '10.0.0.10'],
    ['fd00::/108', 'fd00::a'],
    ['10.0.0.0/29', undefined],
  ])('has the tenth address of %s: %s', async (cidr, expected) => {
    await range(cidr)
    await make()
    expect(await address()).toBe(expected)
  })

  it('stays as somebody has made it', async () => {
    const own: Service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...key, labels: { own: 'yes' } },
      spec: { clusterIP: '10.96.3.3', ports: [{ port: 53 }] },
    }
    await client.create(services, own)
    await make()
    expect((await client.get(services, key)).metadata.labels).toEqual({ own: 'yes' })
  })

  /** A client whose creations of services fail so, in turn. */
  const failing = (...errors: readonly Error[]) => {
    const left = [...errors]
    const link = new ConnectionLink()
    const whole = interceptClient(() => client, link)
    return new Proxy(whole, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name !== 'create') return typeof value === 'function' ? value.bind(target) : value
        return async (...args: Parameters<FakeClient['create']>) => {
          const error = left.shift()
          if (error !== undefined) throw error
          return client.create(...args)
        }
      },
    })
  }

  it('has another address where another service has that', async () => {
    await range('10.96.0.0/12')
    const taken = invalid({ group: '', kind: 'Service' }, 'kube-dns', [])
    await makeDnsService(failing(taken), environment, new AbortController().signal)
    expect(await address()).toBeUndefined()
  })

  it('is tried again where it cannot be made, until that is not wanted any longer', async () => {
    const making = makeDnsService(failing(new Error('no'), new Error('no')), environment, new AbortController().signal)
    await environment.clock.advance(`${3 * retryFirstMs}ms`)
    await making
    expect(await client.get(services, key)).toBeDefined()
    await client.delete(services, key)
    const stopping = new AbortController()
    const given = makeDnsService(
      failing(...Array.from({ length: 9 }, () => new Error('no'))),
      environment,
      stopping.signal,
    )
    stopping.abort()
    await given
  })
})
