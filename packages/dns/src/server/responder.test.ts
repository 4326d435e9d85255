import { createLogger } from '@coracle/environment'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { Forwarder } from '../forward/forwarder.ts'
import { type CachedCluster, cachedCluster } from '../testing/cached-cluster.ts'
import { answerTo, query, read } from '../testing/messages.ts'
import { headless, makeNamespace, makeService, makeSlice } from '../testing/objects.ts'
import { types } from '../wire/numbers.ts'
import { createResponder, type Respond, type ResponderOptions } from './responder.ts'

let cluster: CachedCluster
let told: string[]

beforeAll(async () => {
  cluster = await cachedCluster([
    makeNamespace('shop'),
    makeService(),
    makeService('db', headless),
    makeSlice('db', [{ addresses: ['10.1.0.1'], hostname: 'db-0' }, { addresses: ['10.1.0.2'] }]),
    makeService('out', { type: 'ExternalName', externalName: 'www.example', clusterIP: '' }),
  ])
})

function responder(zone: Partial<ResponderOptions['zone']> = {}): Respond {
  told = []
  const environment = { ...cluster.environment, logger: createLogger(({ message }) => told.push(message), 'error') }
  const exchange = async (_: unknown, question: Buffer, take: (message: Buffer) => boolean): Promise<void> => {
    take(answerTo(question, { addresses: ['203.0.113.1'] }))
  }
  const servers = async () => [{ address: '192.0.2.1', port: 53 }]
  const forwarder = new Forwarder({ environment, servers, exchange: { udp: exchange, tcp: exchange } })
  return createResponder({ environment, forwarder, zone: { ...cluster.zone, ...zone } })
}

describe('what is said to a question', () => {
  it('is to the point, and fits, whatever the question is', async () => {
    const respond = responder()
    const labels = [
      'web',
      'db',
      'db-0',
      'out',
      'shop',
      'svc',
      'pod',
      'cluster',
      'local',
      '_http',
      '_tcp',
      '10-1-0-1',
      'dns',
    ]
    const name = fc.oneof(
      fc
        .array(fc.constantFrom(...labels), { maxLength: 8 })
        .chain((parts) => fc.constantFrom(parts.join('.'), [...parts, 'cluster.local'].join('.'))),
      fc.tuple(fc.ipV4(), fc.constant('in-addr.arpa')).map((parts) => parts.join('.')),
    )
    const type = fc.oneof(fc.constantFrom(...Object.values(types)), fc.nat(65_535))
    const options = fc.record({ id: fc.nat(65_535), udpBytes: fc.option(fc.nat(65_535), { nil: undefined }) })
    await fc.assert(
      fc.asyncProperty(name, type, options, async (asked, number, { id, udpBytes }) => {
        const message = query(asked, number, { id, ...(udpBytes === undefined ? {} : { udpBytes }) })
        const answer = await respond(message, 'udp')
        if (answer === undefined) throw new Error('no answer')
        const said = read(answer)
        expect(said).toMatchObject({ id, isResponse: true, isTruncated: false })
        expect(answer.length).toBeLessThanOrEqual(512)
        const isOfCluster = asked === 'cluster.local' || asked.endsWith('.cluster.local')
        const isRefused = said.rcode === 5 || said.rcode === 1
        if (isOfCluster && !isRefused) expect(said.isAuthoritative).toBe(true)
        if (isOfCluster && said.answers.length === 0 && !isRefused) expect(said.authorities).toEqual([types.SOA])
        expect(told).toEqual([])
      }),
    )
  })

  it('is nothing where that fails, which is logged', async () => {
    const respond = responder({
      view: {
        ...cluster.zone.view,
        hasNamespace() {
          throw new Error('broken')
        },
      },
    })
    expect(respond(query('web.shop.svc.cluster.local'), 'udp')).toBeUndefined()
    expect(told).toEqual(['a question about names was not answered'])
    expect(respond(query('cluster.local'), 'udp')).toBeDefined()
  })
})
