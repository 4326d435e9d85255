import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/**
 * Takes a number for this process, for as long as it runs: no other process of this host is given it meanwhile, nor this one again. Who has
 * a number is known by a socket on the UDP port of that number, to which nobody ever sends anything. Resolves with whether it was free.
 */
export async function takeNumber(number: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port: number, address: '127.0.0.1', exclusive: true })
  try {
    await once(socket, 'listening')
    return true
  } catch {
    socket.close()
    return false
  }
}

/** Takes one of `count` numbers from `first` on. */
export async function ownNumber(first: number, count: number): Promise<number> {
  for (let tries = 0; tries < count; tries++) {
    const number = first + ((process.pid + tries) % count)
    if (await takeNumber(number)) return number
  }
  throw new Error(`others have all ${count} numbers from ${first} on`)
}
