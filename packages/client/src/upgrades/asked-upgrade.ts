import type { IncomingMessage } from 'node:http'

/** What the connection of a request is to become, in small letters; '' where it is to stay as it is. */
export function askedUpgrade({ headers }: IncomingMessage): string {
  const isUpgrade = (headers.connection ?? '').toLowerCase().includes('upgrade')
  return isUpgrade ? (headers.upgrade ?? '').toLowerCase() : ''
}

export const asksForWebSocket = (request: IncomingMessage): boolean => askedUpgrade(request) === 'websocket'
