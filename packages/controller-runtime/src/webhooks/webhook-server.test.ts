import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import {
  createMetricsRegistry,
  type Environment,
  realEnvironment,
  silentLogger,
  VirtualClock,
  virtualEnvironment,
} from '@coracle/environment'
import { createAuthority, issueServingCertificate } from '@coracle/environment/certificates'
import { describe, expect, it, onTestFinished } from 'vitest'
import { widgets } from '../testing/resources.ts'
import { validatingWebhook } from './admission-webhook.ts'
import { type CertificateSource, certificateFiles, selfMadeCertificate } from './certificates.ts'
import { createWebhookServer, webhookBodyBytesMax, webhookCloseGraceMs } from './webhook-server.ts'

const world = realEnvironment(silentLogger)
const metrics = createMetricsRegistry()

const review = (uid: string) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid, operation: 'CREATE', object: { metadata: {} }, userInfo: { username: 'eve' } },
})

const asked: AbortSignal[] = []
const webhook = validatingWebhook('/check', widgets, ({ uid, signal }) => {
  asked.push(signal)
  return uid === 'never' ? new Promise(() => {}) : undefined
})

function run(
  environment: Environment = world,
  certificate: CertificateSource = selfMadeCertificate(world, ['127.0.0.1']),
) {
  const server = createWebhookServer({ environment, port: 0, certificate, webhooks: [webhook], metrics })
  const stopping = new AbortController()
  return { server, running: server.run(stopping.signal), stop: () => stopping.abort() }
}

async function start(...options: Parameters<typeof run>) {
  const { server, running, stop } = run(...options)
  onTestFinished(async () => {
    stop()
    await running
  })
  return server.listening
}

interface Asked {
  readonly method?: string
  readonly body?: string
  readonly type?: string
}

/** A request over a connection of its own: the answer, and the certificate that was shown. */
function ask(url: string, { method = 'POST', body = '', type = 'application/json' }: Asked) {
  return new Promise<{ readonly code: number; readonly text: string; readonly shown: string }>((resolve, reject) => {
    const outgoing = request(
      url,
      { method, agent: false, rejectUnauthorized: false, headers: { 'content-type': type } },
      async (response) => {
        const shown = (response.socket as TLSSocket).getPeerCertificate().fingerprint256
        let text = ''
        for await (const chunk of response) text += chunk
        resolve({ code: response.statusCode ?? 0, text, shown })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

describe('a webhook server', () => {
  it('answers reviews, and says what is wrong with anything else', async () => {
    const { url } = await start()
    const good = await ask(`${url}/check?timeout=5s`, { body: JSON.stringify(review('1')) })
    expect([good.code, JSON.parse(good.text)]).toEqual([
      200,
      { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: '1', allowed: true } },
    ])
    const refusals = await Promise.all([
      ask(`${url}/none`, { body: '{}' }),
      ask(`${url}/check`, { method: 'GET' }),
      ask(`${url}/check`, { body: '{}', type: 'text/plain' }),
      ask(`${url}/check`, { body: '{' }),
      ask(`${url}/check`, { body: '{"kind":"AdmissionReview"}' }),
      ask(`${url}/check`, { body: 'x'.repeat(webhookBodyBytesMax + 1) }),
    ])
    expect(refusals.map(({ code, text }) => [code, text])).toEqual([
      [404, 'there is no webhook /none\n'],
      [405, 'webhooks are asked by POST\n'],
      [415, 'reviews come as application/json, not text/plain\n'],
      [400, 'the review is no JSON\n'],
      [400, 'not an AdmissionReview with a request\n'],
      [413, `a review has at most ${webhookBodyBytesMax} bytes\n`],
    ])
    expect(metrics.text()).toContain('controller_runtime_webhook_requests_total{webhook="/check",code="200"} 1\n')
    expect(metrics.text()).not.toContain('/none')
  })

  it.each(['//', 'http://['])('answers whoever asks for %s, which is no URL', async (target) => {
    const { url } = await start()
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    socket.end(`POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1.1 404 /)
  })

  it('gives up what takes longer than the server waits, and tells the handler', async () => {
    const clock = new VirtualClock()
    const { url } = await start({ ...world, clock })
    asked.length = 0
    const answer = ask(`${url}/check?timeout=2s`, { body: JSON.stringify(review('never')) })
    await expect.poll(() => asked.length).toBe(1)
    await clock.advance(1999)
    expect(asked[0]?.aborted).toBe(false)
    await clock.advance(1)
    expect(asked[0]?.aborted).toBe(true)
    expect(await answer).toMatchObject({ code: 504, text: 'the webhook took too long\n' })
  })

  it('ends a while after it was told to, though a client never comes to the end of its request', async () => {
    const clock = new VirtualClock()
    const { server, running, stop } = run({ ...world, clock })
    const { url } = await server.listening
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    socket.write('POST /check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n')
    expect(`${await once(socket, 'data')}`).toMatch(/^HTTP\/1.1 100 /)
    const gone = once(socket, 'close')
    stop()
    await clock.advance(webhookCloseGraceMs - 1)
    expect(socket.readyState).toBe('open')
    await clock.advance(1)
    await Promise.all([running, gone])
  })

  it('renews a certificate of its own by the same authority before it ends', async () => {
    const daysMs = 86_400_000
    const environment = virtualEnvironment()
    const source = selfMadeCertificate(environment, ['127.0.0.1'])
    const first = await source.load()
    await environment.clock.advance(244 * daysMs)
    expect(await source.load()).toBe(first)
    await environment.clock.advance(2 * daysMs)
    const second = await source.load()
    expect(second.ca).toBe(first.ca)
    const [old, next] = [first, second].map(({ cert }) => new X509Certificate(cert))
    expect(next?.verify(new X509Certificate(first.ca ?? '').publicKey)).toBe(true)
    expect(next?.validToDate.getTime()).toBeGreaterThan((old?.validToDate.getTime() ?? 0) + 240 * daysMs)
  })

  it('shows a renewed certificate, and the old one while the new one cannot be read', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'webhooks-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
    const authority = createAuthority(world)
    const renew = async () => {
      const made = issueServingCertificate(world, authority, { commonName: 'webhooks', hosts: ['127.0.0.1'] })
      await Promise.all([writeFile(files.cert, made.certificatePem), writeFile(files.key, made.keyPem)])
    }
    await renew()
    const clock = new VirtualClock()
    const { url } = await start({ ...world, clock }, certificateFiles(files))
    const shown = async () => (await ask(`${url}/check`, { body: JSON.stringify(review('1')) })).shown
    const first = await shown()
    await writeFile(files.cert, 'half a cert')
    await clock.advance('10s')
    expect(await shown()).toBe(first)
    await renew()
    const shownLater = async () => {
      await clock.advance('10s')
      return shown()
    }
    await expect.poll(shownLater).not.toBe(first)
  })
})
