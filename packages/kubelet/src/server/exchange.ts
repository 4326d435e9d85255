import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UpgradedConnection } from '@coracle/client/upgrades'
import type { Environment } from '@coracle/environment'
import type { ServedNode } from './served-node.ts'
import type { UsageCounters } from './usage-counters.ts'

/** A request that somebody may make of a node, with its answer. */
export interface Exchange {
  readonly node: ServedNode
  readonly environment: Environment
  /** What nodes and their containers have used. */
  readonly counters: UsageCounters
  /** What `/configz` shows. */
  readonly configuration: Readonly<Record<string, unknown>>
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The path as it came, and its parts, decoded. */
  readonly path: string
  readonly parts: readonly string[]
  readonly query: URLSearchParams
  /** Aborted when the client goes or the server closes. */
  readonly signal: AbortSignal
  /** Takes the request's connection for something else than HTTP; undefined where it does not ask for that. Throws a Refusal where there are too many. */
  takeConnection(): UpgradedConnection | undefined
}

export function sendText({ response }: Pick<Exchange, 'response'>, code: number, text: string): void {
  send(response, code, 'text/plain; charset=utf-8', text)
}

export function sendJson({ response }: Pick<Exchange, 'response'>, value: unknown): void {
  send(response, 200, 'application/json', JSON.stringify(value))
}

export function send(response: ServerResponse, code: number, contentType: string, body: string): void {
  const bytes = Buffer.from(body)
  response.writeHead(code, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(bytes)
}
