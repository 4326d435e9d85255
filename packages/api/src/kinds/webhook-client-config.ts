/** How webhooks are reached, for whichever kind names one: conversion and admission. */
import { type FieldError, invalidField, requiredField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { type GoUrl, GoUrlError, parseGoUrl } from '../go-url.ts'
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

const urlForm = '; desired format: https://host[/path]'

/** What is wrong with a webhook's URL (ValidateWebhookURL). What somebody has written as user and password is told to whoever wrote it. */
function urlErrors(text: string, path: FieldPath): readonly FieldError[] {
  let url: GoUrl
  try {
    url = parseGoUrl(text)
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error
    return [requiredField(path, `url must be a valid URL: ${error.message}${urlForm}`)]
  }
  const { scheme, host, user, fragment, query } = url
  const refuse = (shown: string, detail: string) => [invalidField(path, shown, detail)]
  return [
    ...(scheme === 'https' ? [] : refuse(scheme, `'https' is the only allowed URL scheme${urlForm}`)),
    ...(host === '' ? refuse(host, `host must be specified${urlForm}`) : []),
    ...(user === undefined ? [] : refuse(user, 'user information is not permitted in the URL')),
    ...(fragment === '' ? [] : refuse(fragment, 'fragments are not permitted in the URL')),
    ...(query === '' ? [] : refuse(query, 'query parameters are not permitted in the URL')),
  ]
}
