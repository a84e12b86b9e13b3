// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";

/// The USDC of the local chains, with the interface, name, decimals and signing domain of the real USDC. Its owner can
/// mint, which the sandbox uses as a faucet. It implements EIP-2612 itself, because ERC20Permit would set the signing
/// domain's version to "1", and the real contract's version is "2".
contract Usdc is ERC20, EIP712, Nonces, Ownable {
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH =
        keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH =
        keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    mapping(address authorizer => mapping(bytes32 nonce => bool)) private _usedAuthorizations;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    constructor(address owner_) ERC20("USD Coin", "USDC") EIP712("USD Coin", "2") Ownable(owner_) {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function mint(address to, uint256 value) external onlyOwner {
        _mint(to, value);
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    // EIP-2612

    function permit(
        address owner_,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 hash = keccak256(abi.encode(PERMIT_TYPEHASH, owner_, spender, value, _useNonce(owner_), deadline));
        _checkSignature(owner_, hash, v, r, s);
        _approve(owner_, spender, value);
    }

    // EIP-3009

    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _usedAuthorizations[authorizer][nonce];
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _checkValidity(validAfter, validBefore);
        bytes32 hash = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _checkSignature(from, hash, v, r, s);
        _useAuthorization(from, nonce);
        _transfer(from, to, value);
    }

    /// Like `transferWithAuthorization`, but only the payee may submit the authorization. So nobody can separate the
    /// payment from the payee's own call.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _checkValidity(validAfter, validBefore);
        bytes32 hash = keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _checkSignature(from, hash, v, r, s);
        _useAuthorization(from, nonce);
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _checkUnused(authorizer, nonce);
        _checkSignature(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), v, r, s);
        _usedAuthorizations[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _checkValidity(uint256 validAfter, uint256 validBefore) private view {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
    }

    function _checkUnused(address authorizer, bytes32 nonce) private view {
        require(!_usedAuthorizations[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    function _useAuthorization(address authorizer, bytes32 nonce) private {
        _checkUnused(authorizer, nonce);
        _usedAuthorizations[authorizer][nonce] = true;
        emit AuthorizationUsed(authorizer, nonce);
    }

    function _checkSignature(address signer, bytes32 structHash, uint8 v, bytes32 r, bytes32 s) private view {
        require(ECDSA.recover(_hashTypedDataV4(structHash), v, r, s) == signer, "FiatTokenV2: invalid signature");
    }
}
