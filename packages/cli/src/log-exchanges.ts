import { STATUS_CODES } from 'node:http'
import { formatTime } from '@coracle/api'
import type { ExchangeEvent, ShownHeaders } from '@coracle/client'
import type { Host } from './host.ts'

/** How much of a body is shown at a level; from 10 on all of it (kubectl's rule). */
const bodyCharactersMax: Readonly<Record<number, number>> = { 8: 1024, 9: 10_240 }

/** Writes of requests to standard error what kubectl does at these levels: 6 lines, 7 headers, 8 bodies, 9 curl commands. */
export function logExchanges({ stderr, environment }: Host, level: number): (event: ExchangeEvent) => void {
  const log = (text: string) => stderr.write(`I${logTime(environment.clock.now())} ${text}\n`)
  return (event) => {
    switch (event.type) {
      case 'request':
        if (level >= 9) log(`curl -v -X${event.method}${curlHeaders(event.headers)} '${event.url}'`)
        else if (level >= 7) {
          log(`"Request" verb="${event.method}" url="${event.url}" headers=${headerLines(event.headers)}`)
        }
        if (level >= 8 && event.body !== undefined) log(`"Request Body" body=${shortened(event.body, level)}`)
        return
      case 'response': {
        const { method, url, code, durationMs } = event
        const headers = level >= 8 ? ` headers=${headerLines(event.headers)}` : ''
        const status = code === undefined ? '' : `${code} ${statusText(code)}`
        log(
          `"Response" verb="${method}" url="${url}" status="${status}"${headers} milliseconds=${Math.round(durationMs)}`,
        )
        return
      }
      case 'body':
        if (level >= 8) log(`"Response Body" body=${shortened(event.text, level)}`)
    }
  }
}

const statusText = (code: number): string => STATUS_CODES[code] ?? ''

/** `1122 07:29:48.123000`, as the log of Go's programs begins a line. */
export function logTime(nowMs: number): string {
  const [date = '', time = ''] = formatTime(nowMs).slice(0, -1).split('T')
  return `${date.slice(5).replace('-', '')} ${time}.${String(nowMs % 1000).padStart(3, '0')}000`
}

function headerLines(headers: ShownHeaders): string {
  const lines = Object.entries(headers).map(([name, value]) => `\t${name}: ${[value].flat().join(', ')}\n`)
  return `<\n${lines.join('')} >`
}

const curlHeaders = (headers: ShownHeaders): string =>
  Object.entries(headers)
    .map(([name, value]) => ` -H ${JSON.stringify(`${name}: ${[value].flat().join(', ')}`)}`)
    .join('')

function shortened(body: string, level: number): string {
  const max = bodyCharactersMax[level] ?? body.length
  return body.length <= max
    ? JSON.stringify(body)
    : `${JSON.stringify(body.slice(0, max))} [truncated ${body.length - max} chars]`
}
