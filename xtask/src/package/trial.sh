# Installs the package on a copy of this machine that forgets everything, runs the unit's command as
# the unit's user, and removes the package again when a line arrives. Prints JSON objects: an ISO, its
# key, the server's addresses. Arguments: the package, an empty folder.
set -e
deb=$1
folder=$2

# Whatever is written goes to memory.
mount -t tmpfs tmpfs "$folder"
mkdir "$folder/changes" "$folder/work" "$folder/root"
mount -t overlay overlay \
    -o "lowerdir=/,upperdir=$folder/changes,workdir=$folder/work" "$folder/root"
mkdir -p "$folder/root/run/trial"
cp "$deb" "$folder/root/run/trial/boardwalk.deb"
mount -t proc proc "$folder/root/proc"
mount --bind /dev "$folder/root/dev"

cat >"$folder/root/run/trial/inside.sh" <<'INSIDE'
set -e
# A package of this machine, and its data, are none of the trial's business.
if getent passwd boardwalk >/dev/null; then userdel boardwalk >&2; fi
rm -rf /var/lib/boardwalk /etc/boardwalk /run/systemd/system

dpkg --install --force-depends /run/trial/boardwalk.deb >&2
as_user="setpriv --reuid boardwalk --regid boardwalk --clear-groups"
cd /
unit=/lib/systemd/system/boardwalk.service
if systemd-analyze security --help 2>/dev/null | grep -q -e --offline; then
    systemd-analyze security --no-pager --offline=true --threshold=20 "$unit" | tail -n 1 >&2
fi
boardwalk="boardwalk --data /var/lib/boardwalk --json"
iso=$($as_user $boardwalk iso create --name Trial)
echo "$iso"
iso=$(echo "$iso" | sed 's/.*"isoId":"\([^"]*\)".*/\1/')
$as_user $boardwalk key create --iso "$iso"

command=$(sed -n 's/^ExecStart=//p' "$unit")
anywhere="--listen 127.0.0.1:0 --listen-production 127.0.0.1:0 --admin-listen 127.0.0.1:0"
$as_user $command $anywhere --json </dev/null &
server=$!
read -r line
kill "$server"
wait "$server"
test "$(stat --format=%U:%a /var/lib/boardwalk/master.key)" = boardwalk:600
test -s /usr/share/man/man1/boardwalk-serve.1.gz
dpkg --purge boardwalk >&2
test ! -e /usr/bin/boardwalk
test ! -e /etc/boardwalk/boardwalk.toml
test -s /var/lib/boardwalk/master.key
INSIDE
exec chroot "$folder/root" sh /run/trial/inside.sh
