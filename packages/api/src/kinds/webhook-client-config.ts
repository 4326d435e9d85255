/** How webhooks are reached, for whichever kind names one: conversion and admission. */
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
    ...(name === '' ? [requiredField(path.field('name'), 'service name is required')] : []),
    ...(namespace === '' ? [requiredField(path.field('namespace'), 'service namespace is required')] : []),
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

const urlForm = '; desired format: https://host[/path]'

function urlErrors(text: string, path: FieldPath): readonly FieldError[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
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
