import type { Socket as UdpSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import type { Clock } from '@coracle/environment'
import { answerHealth } from './health.ts'
import { type Network, Places } from './network.ts'
import { listenTcp } from './tcp.ts'
import { listenUdp } from './udp.ts'

/** The sockets of this host. */
export function hostNetwork(clock: Clock): Network {
  const places = new Places()
  const connections = new Set<Socket>()
  const datagrams = new Set<UdpSocket>()
  return {
    listen(frontend, balancer) {
      if (frontend.healthOf !== undefined) return answerHealth(frontend, frontend.healthOf, balancer)
      return frontend.protocol === 'TCP'
        ? listenTcp(frontend, balancer, { places, clock, sockets: connections })
        : listenUdp(frontend, balancer, { places, clock, sockets: datagrams })
    },
    close() {
      for (const socket of connections) socket.destroy()
    },
  }
}
