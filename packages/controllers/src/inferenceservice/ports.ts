/** The ports of a component's Services: those that the main container of its first runner declares. */
import { mainContainerName } from '@omenative/api';
import { asInteger, asRecord, asRecords, asText, type JsonRecord } from '../shared/json.js';

/** One entry of a Service's `spec.ports`, with every default filled in, so that two can be compared. */
export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetPort: number | string;
  /** '' for none. */
  readonly appProtocol: string;
}

/** What a Service gets when the container declares no port: the port that OME's own runtimes serve on. */
export const fallbackPort: ServicePort = {
  name: 'http',
  protocol: 'TCP',
  port: 8080,
  targetPort: 8080,
  appProtocol: '',
};

/** `runners` in pod order: requests go to the first. `appProtocols` maps a port's name to its protocol. */
export function servicePorts(
  runners: readonly JsonRecord[],
  appProtocols: Readonly<Record<string, string>>,
): readonly ServicePort[] {
  const containers = asRecords(asRecord(asRecord(runners[0]?.['template'])['spec'])['containers']);
  const main = containers.find((container) => container['name'] === mainContainerName) ?? containers[0];
  const declared = asRecords(main?.['ports']).flatMap((port) => {
    const number = asInteger(port['containerPort']);
    if (number === undefined) return [];
    const protocol = asText(port['protocol']) || 'TCP';
    const name = asText(port['name']) || `${protocol.toLowerCase()}-${number}`;
    return [
      {
        name,
        protocol,
        port: number,
        targetPort: asText(port['name']) || number,
        appProtocol: appProtocols[name] ?? '',
      },
    ];
  });
  return declared.length === 0 ? [{ ...fallbackPort, appProtocol: appProtocols[fallbackPort.name] ?? '' }] : declared;
}

/** A stored Service's ports, as they compare. */
export function storedPorts(spec: JsonRecord): readonly ServicePort[] {
  return asRecords(spec['ports']).map((port) => {
    const number = asInteger(port['port']) ?? 0;
    const target = port['targetPort'];
    return {
      name: asText(port['name']),
      protocol: asText(port['protocol']) || 'TCP',
      port: number,
      targetPort: typeof target === 'number' || typeof target === 'string' ? target : number,
      appProtocol: asText(port['appProtocol']),
    };
  });
}

/** Ports as they are written. A node port that a stored Service holds for the same port is kept. */
export function writtenPorts(ports: readonly ServicePort[], stored: JsonRecord): readonly JsonRecord[] {
  return ports.map(({ name, protocol, port, targetPort, appProtocol }) => {
    const held = asRecords(stored['ports']).find(
      (candidate) => candidate['port'] === port && (asText(candidate['protocol']) || 'TCP') === protocol,
    );
    const nodePort = asInteger(held?.['nodePort']);
    return {
      name,
      protocol,
      port,
      targetPort,
      ...(appProtocol === '' ? {} : { appProtocol }),
      ...(nodePort === undefined ? {} : { nodePort }),
    };
  });
}
