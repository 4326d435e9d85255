import { isIPv6 } from 'node:net'
import type { Container } from '@coracle/api'

/** What is to be asked does not name anything that could be: that says nothing of the container. */
export class HandlerTargetError extends Error {
  override readonly name = 'HandlerTargetError'
}

/** The port that is meant: a number, or the name of one of the container's. Throws a HandlerTargetError where there is none. */
export function portOf(port: number | string, container: Container): number {
  const named =
    typeof port === 'number' ? port : (container.ports ?? []).find(({ name }) => name === port)?.containerPort
  const number = named ?? Number(port)
  if (!Number.isInteger(number))
    throw new HandlerTargetError(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`)
  if (number < 1 || number > 65_535) throw new HandlerTargetError(`invalid port number: ${number}`)
  return number
}

/** Host and port as they stand in URLs and messages. */
export function withPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connect: connection refused'],
  ['EHOSTUNREACH', 'connect: no route to host'],
  ['ENETUNREACH', 'connect: network is unreachable'],
  ['ECONNRESET', 'connect: connection reset by peer'],
  ['ETIMEDOUT', 'connect: connection timed out'],
])

/** Why there is no connection, in the words of Go's dialer, which people look for. */
export function connectFailure(error: Error, host: string, port: number): string {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`
  const reason = syscall === 'connect' && code !== undefined ? reasons.get(code) : undefined
  return reason === undefined ? error.message : `dial tcp ${withPort(host, port)}: ${reason}`
}
