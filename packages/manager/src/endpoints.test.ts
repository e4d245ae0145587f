import { get } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Endpoint, type Routes, serve, text } from './endpoints.js';

let endpoint: Endpoint | undefined;

afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
});

async function open(routes: Routes): Promise<void> {
  endpoint = await serve('127.0.0.1:0', routes);
}

function ask(path: string): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(`http://${endpoint?.address}${path}`, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    }).on('error', reject);
  });
}

describe('an endpoint', () => {
  it('answers its paths, whatever their query, and no other', async () => {
    await open({ '/readyz': () => text(503, 'not yet') });
    expect(await ask('/readyz?verbose=1')).toEqual({ status: 503, body: 'not yet\n' });
    expect((await ask('/')).status).toBe(404);
  });

  it('answers for a route that fails, and lives on', async () => {
    await open({
      '/metrics': () => {
        throw new Error('no numbers today');
      },
    });
    expect(await ask('/metrics')).toEqual({ status: 500, body: 'no numbers today\n' });
    expect((await ask('/metrics')).status).toBe(500);
  });

  it('can be turned off', async () => {
    expect(await serve('0', {})).toBeUndefined();
  });

  it.each(['8080', 'localhost', ':http', ''.padEnd(3, ':')])('refuses the address %s', async (address) => {
    await expect(serve(address, {})).rejects.toThrow('write host:port or :port, or 0 for none');
  });

  it('says which address is taken, and by whom', async () => {
    await open({});
    await expect(serve(endpoint?.address ?? '', {})).rejects.toThrow(
      `${endpoint?.address} can't be served: it is taken, probably by a manager that is running already`,
    );
  });

  it('says why an address that nobody has taken is not served', async () => {
    await expect(serve('192.0.2.1:0', {})).rejects.toThrow(/^192\.0\.2\.1:0 can't be served: .*EADDRNOTAVAIL/);
  });
});
