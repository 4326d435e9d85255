/** How webhooks are reached, for whichever kind names one: conversion and admission. */
import { X509Certificate } from 'node:crypto'
import { type FieldError, invalidField, requiredField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { checkFormat, rangeMessage } from '../string-formats.ts'

/** A URL or a service, and the certificates by which its own is checked. */
export interface WebhookAddress {
  readonly url?: string | undefined
  readonly service?: ServiceAddress | undefined
}

interface ServiceAddress {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly path?: string | undefined
  readonly port?: number | undefined
}

/** What is wrong with a webhook's address, in the words of upstream's util/webhook. */
export function validateWebhookClientConfig({ url, service }: WebhookAddress, path: FieldPath): readonly FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [requiredField(path, 'exactly one of url or service is required')]
  }
  return url === undefined ? serviceErrors(service ?? {}, path.field('service')) : urlErrors(url, path.field('url'))
}

function serviceErrors(
  { name = '', namespace = '', port = 443, path: route = '/' }: ServiceAddress,
  path: FieldPath,
): readonly FieldError[] {
  return [
    // Whoever calls upstream's function gives it one for the other.
    ...(namespace === '' ? [requiredField(path.field('name'))] : []),
    ...(name === '' ? [requiredField(path.field('namespace'))] : []),
    ...(port < 1 || port > 65535
      ? [invalidField(path.field('port'), port, `port is not valid: ${rangeMessage(1, 65535)}`)]
      : []),
    ...routeErrors(route, path.field('path')),
  ]
}

function routeErrors(route: string, path: FieldPath): readonly FieldError[] {
  if (route === '' || route === '/') return []
  const refuse = (detail: string) => invalidField(path, route, detail)
  if (route === '//') return [refuse('segment[0] may not be empty')]
  const segments = route.slice(1).replace(/\/$/, '').split('/')
  return [
    ...(route.startsWith('/') ? [] : [refuse("must start with a '/'")]),
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [refuse(`segment[${index}] may not be empty`)]
        : checkFormat('dns1123-subdomain', segment).map((problem) => refuse(`segment[${index}]: ${problem}`)),
    ),
  ]
}

/** What is wrong with certificates (PEM, in base64) by which that of a webhook is to be checked. */
export function caBundleErrors(bundle: string, path: FieldPath): readonly FieldError[] {
  const problem = caProblem(Buffer.from(bundle, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalidField(path, bundle, `unable to load root certificates: ${problem}`)]
}

/** Whether certificates (PEM, in base64) can be read, or there are none. */
export const isReadableCaBundle = (bundle: string): boolean =>
  caProblem(Buffer.from(bundle, 'base64').toString('latin1')) === undefined

const pemBlock = /-----BEGIN ([^-\n]*)-----\r?\n([\s\S]*?)-----END \1-----/g

/** One certificate that can be read is enough. */
function caProblem(pem: string): string | undefined {
  if (pem === '') return undefined
  const blocks = [...pem.matchAll(pemBlock)]
  if (blocks.some(([text, type]) => type === 'CERTIFICATE' && isCertificate(text))) return undefined
  const rest = pem.slice((blocks.at(-1)?.index ?? 0) + (blocks.at(-1)?.[0].length ?? 0))
  if (blocks.length > 0 && rest.trim() === '') return 'no valid certificate authority data seen'
  return 'unable to parse bytes as PEM block'
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}

const urlForm = '; desired format: https://host[/path]'

/** A relative reference, which can be read: a path, or nothing. */
const isPath = (text: string): boolean => /^(?!\/\/)[^:?#%]*(?:\/[^?#%]*)?$/.test(text)

function urlErrors(text: string, path: FieldPath): readonly FieldError[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined && isPath(text)) {
    return [
      invalidField(path, '', `'https' is the only allowed URL scheme${urlForm}`),
      invalidField(path, '', `host must be specified${urlForm}`),
    ]
  }
  if (url === undefined) return [requiredField(path, `url must be a valid URL${urlForm}`)]
  const refuse = (shown: string, detail: string) => [invalidField(path, shown, detail)]
  return [
    ...(url.protocol === 'https:'
      ? []
      : refuse(url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${urlForm}`)),
    ...(url.host === '' ? refuse(url.host, `host must be specified${urlForm}`) : []),
    ...(url.username === '' && url.password === ''
      ? []
      : refuse(url.username, 'user information is not permitted in the URL')),
    ...(url.hash === '' ? [] : refuse(url.hash.slice(1), 'fragments are not permitted in the URL')),
    ...(url.search === '' ? [] : refuse(url.search.slice(1), 'query parameters are not permitted in the URL')),
  ]
}
