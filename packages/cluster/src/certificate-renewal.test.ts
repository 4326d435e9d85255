import { X509Certificate } from 'node:crypto'
import { createPki, type Pki } from '@coracle/apiserver'
import { createLogger, virtualEnvironment } from '@coracle/environment'
import { certificateHosts } from '@coracle/environment/certificates'
import { expect, it, onTestFinished } from 'vitest'
import { renewCertificates } from './certificate-renewal.ts'

const daysMs = 86_400_000

function renewing(onRenewed: (pki: Pki) => void | Promise<void> = () => {}) {
  const told: string[] = []
  const logger = createLogger(({ message }) => told.push(message))
  const environment = virtualEnvironment({ logger })
  const pki = createPki(environment, ['10.0.0.1'])
  const renewed: Pki[] = []
  const stop = renewCertificates({
    environment,
    pki,
    dataDir: undefined,
    onRenewed: async (next) => {
      await onRenewed(next)
      renewed.push(next)
    },
  })
  onTestFinished(stop)
  return { environment, pki, renewed, told, stop }
}

const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime()

it('renews the certificates of a server and its administrator in the last third of their lives, and again', async () => {
  const { environment, pki, renewed } = renewing()
  await environment.clock.advance(255 * daysMs)
  expect(renewed).toEqual([])
  await environment.clock.advance(75 * daysMs)
  expect(renewed).toHaveLength(2)
  const second = renewed[1] ?? pki
  expect(second.ca).toBe(pki.ca)
  expect(certificateHosts(second.serving.certificatePem)).toEqual(certificateHosts(pki.serving.certificatePem))
  expect(new X509Certificate(second.admin.certificatePem).subject).toBe(
    new X509Certificate(pki.admin.certificatePem).subject,
  )
  for (const name of ['serving', 'admin'] as const) {
    expect(endOf(second[name].certificatePem)).toBeGreaterThan(endOf(pki[name].certificatePem) + 250 * daysMs)
  }
  await environment.clock.advance(330 * daysMs)
  expect(renewed).toHaveLength(4)
  expect(endOf(renewed[3]?.serving.certificatePem ?? '')).toBeGreaterThan(environment.clock.now() + 30 * daysMs)
})

it('tries again where a certificate cannot be kept', async () => {
  let failures = 1
  const { environment, renewed, told } = renewing(() => {
    if (failures-- > 0) throw new Error('no space left on device')
  })
  await environment.clock.advance(330 * daysMs)
  expect(told).toEqual(['a certificate of the server could not be renewed, will try again'])
  expect(renewed).toHaveLength(1)
  await environment.clock.advance('2s')
  expect(renewed).toHaveLength(2)
})

it('renews nothing once it is stopped', async () => {
  const { environment, renewed, stop } = renewing()
  await stop()
  await environment.clock.advance(400 * daysMs)
  expect(renewed).toEqual([])
})
