import type { EndpointSlice, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { headless, makeService, makeSlice } from '../testing/objects.ts'
import { serviceLines } from './service-lines.ts'

const place = { domain: 'cluster.local', isOwnNode: (name: string) => name === 'here' }

/** Lines with their names apart by spaces. */
function shown(service: Service, slices: readonly EndpointSlice[] = []) {
  const { own, others } = serviceLines(service, slices, place)
  const text = (lines: readonly string[]) => lines.map((line) => line.trimEnd().replaceAll('\t', ' '))
  return { own: text(own), others: text(others) }
}

const namesOf = (service: Service, slices: readonly EndpointSlice[] = []) => shown(service, slices).others

describe('the names of a service', () => {
  it('are its own in its namespace, and of more than one label elsewhere', () => {
    expect(shown(makeService('web'))).toEqual({
      own: ['10.96.0.7 web.shop.svc.cluster.local web.shop.svc web.shop web'],
      others: ['10.96.0.7 web.shop.svc.cluster.local web.shop.svc web.shop'],
    })
  })

  it('are given to each of its addresses', () => {
    const clusterIPs = ['10.96.0.8', 'fd00:96::8']
    expect(namesOf(makeService('web', { clusterIP: '10.96.0.8', clusterIPs }))).toEqual([
      '10.96.0.8 web.shop.svc.cluster.local web.shop.svc web.shop',
      'fd00:96::8 web.shop.svc.cluster.local web.shop.svc web.shop',
    ])
  })

  it.each<[string, Service]>([
    [
      'one that is another name',
      makeService('web', { type: 'ExternalName', externalName: 'example.com', clusterIP: '', clusterIPs: [] }),
    ],
    ['one that has no address yet', makeService('web', { clusterIP: '', clusterIPs: [] })],
    ['that of the API, which processes reach elsewhere', makeService('kubernetes', {}, 'default')],
  ])('are none: %s', (_, service) => {
    expect(shown(service)).toEqual({ own: [], others: [] })
  })

  it('are given to services of the same name or namespace as that of the API', () => {
    expect(namesOf(makeService('kubernetes'))).toHaveLength(1)
    expect(namesOf(makeService('web', {}, 'default'))).toHaveLength(1)
  })

  it('are none where it is another name, whatever is behind it', () => {
    const alias = makeService('web', { type: 'ExternalName', clusterIP: '', clusterIPs: [] })
    expect(namesOf(alias, [makeSlice('web', [{ addresses: ['10.0.0.1'], hostname: 'web-0' }])])).toEqual([])
  })
})

describe('the names of a service without an address', () => {
  const web = makeService('web', headless)
  const names = 'web.shop.svc.cluster.local web.shop.svc web.shop'

  it('are those of what is behind it, in order, each once', () => {
    const slices = [
      makeSlice('web', [{ addresses: ['10.0.0.2', '10.0.0.3'] }, { addresses: ['10.0.0.1'] }]),
      makeSlice('web', [{ addresses: ['10.0.0.1'] }], { name: 'web-2' }),
    ]
    expect(namesOf(web, slices)).toEqual([`10.0.0.1 ${names}`, `10.0.0.2 ${names}`, `10.0.0.3 ${names}`])
  })

  it('are none while nothing is behind it', () => {
    expect(namesOf(web, [makeSlice('web', [])])).toEqual([])
  })

  it.each([
    ['not ready', { ready: false }, []],
    ['not ready, of a service that publishes such', { ready: true, serving: false }, [`10.0.0.1 ${names}`]],
    ['of which nothing is said', undefined, [`10.0.0.1 ${names}`]],
  ])('of an endpoint that is %s', (_, conditions, lines) => {
    const endpoint = { addresses: ['10.0.0.1'], ...(conditions === undefined ? {} : { conditions }) }
    expect(namesOf(web, [makeSlice('web', [endpoint])])).toEqual(lines)
  })

  it('are not those of slices of names', () => {
    const slice = makeSlice('web', [{ addresses: ['example.com'] }], { addressType: 'FQDN' })
    expect(namesOf(web, [slice])).toEqual([])
  })

  it.each([
    ['loopback of another host', '127.0.0.9', 'there', 0],
    ['loopback of this host', '127.0.0.9', 'here', 1],
    ['loopback of no node, as somebody has written', '127.0.0.9', undefined, 1],
    ['the network, wherever it is', '10.0.0.1', 'there', 1],
  ])('of an endpoint at an address of %s', (_, address, nodeName, count) => {
    const endpoint = { addresses: [address], ...(nodeName === undefined ? {} : { nodeName }) }
    expect(namesOf(web, [makeSlice('web', [endpoint])])).toHaveLength(count)
  })
})

describe('endpoints with a name, as pods of a StatefulSet', () => {
  const slices = [makeSlice('web', [{ addresses: ['10.0.0.1'], hostname: 'web-0' }])]

  it('have it before that of their service', () => {
    expect(shown(makeService('web', headless), slices).own).toEqual([
      '10.0.0.1 web-0.web.shop.svc.cluster.local web-0.web.shop.svc web-0.web.shop web-0.web web.shop.svc.cluster.local web.shop.svc web.shop web',
    ])
  })

  it('have it alone where the service has an address', () => {
    expect(shown(makeService('web'), slices).others).toEqual([
      '10.0.0.1 web-0.web.shop.svc.cluster.local web-0.web.shop.svc web-0.web.shop',
      '10.96.0.7 web.shop.svc.cluster.local web.shop.svc web.shop',
    ])
  })
})
